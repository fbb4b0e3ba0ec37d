use conceal::{DATAGRAM_MAX, Random, Template};

/// Bytes are the text of a signature packet: what is read is written in the portable form and reads back as the same.
pub fn tags(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else {
        return;
    };
    match Template::parse(text) {
        Ok(template) => {
            assert!(template.len() <= DATAGRAM_MAX);
            let portable = template.to_string();
            let again = Template::parse(&portable).expect("the portable form is well-formed");
            assert_eq!(again, template);
            let mut random = Random::new(&[7; 32], 0);
            let mut out = vec![0; template.len()];
            let packet = template.write(1, &mut random, &mut out);
            assert_eq!(packet.map(<[u8]>::len), Some(template.len()));
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            assert!(errors.iter().all(|error| !error.to_string().is_empty()));
        }
    }
}
